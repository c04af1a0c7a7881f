"""The targets for this machine: plain C, and C with OpenMP."""
