"""The target `mpi`: ranks of a communicator share the iterations of outer loops, and send each other what they read."""
