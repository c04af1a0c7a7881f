"""Arrays that stay on the device between regions: around a loop of the user's, or from one region to the next."""
