"""The proofs: printed code read back and compared with the dependences of the source."""
