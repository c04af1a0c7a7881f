"""KernelIR to text: one visitor without choices, and one jinja2 macro for each kind of statement."""
