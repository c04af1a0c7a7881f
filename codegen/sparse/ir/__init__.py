"""The intermediate representation of conversions: steps over entries and arrays, and passes over them."""
