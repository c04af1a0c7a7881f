"""Products on a device: tiles of elements in registers, operands staged in shared memory."""
