"""Random programs through the tool: the default plan on both targets, reassociation, and random plans."""
from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from random import Random

from codegen.diagnostics import InputError, Severity
from codegen.machine import load
from codegen.options import GenOptions
from codegen.pipeline import Opened, assemble, open_source, process_opened
from tests.property.plans import Names, random_plan, schedule_block
from tests.property.programs import Program
