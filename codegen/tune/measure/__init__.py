"""Measurements that can be trusted: in child processes, many candidates to a compilation, failures kept apart."""
