"""Wide halos: several time steps without a message, and what ranks send ahead of them."""
