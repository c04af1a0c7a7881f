"""Which loops become threads of a device: orders, grids, processors."""
