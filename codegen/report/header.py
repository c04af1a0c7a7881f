"""The header artefact: prototypes of the functions with regions, for C and for C++."""
from __future__ import annotations

import re

from pycparser import c_ast

from codegen.frontend.expressions.affine import c_text
from codegen.options import GenOptions
from codegen.source.parse import parse_with_gaps
from codegen.source.write import GENERATED
from codegen.source_file import Opened, open_source
from codegen.target.finish.wrap import wrapped

# Where names of types come from when it is not the source's own header.
_STANDARD = {
    **dict.fromkeys(("size_t", "ptrdiff_t"), "stddef.h"),
    **{f"{u}int{n}_t": "stdint.h" for u in ("", "u") for n in (8, 16, 32, 64)},
    **dict.fromkeys(("intptr_t", "uintptr_t"), "stdint.h"),
    "bool": "stdbool.h",
}


def header_text(path: str, text: str, options: GenOptions) -> str:
    """A header that declares every function with a region that other files can call."""
    source = open_source(path, text, options)
    declared = _declarations(source)
    names = {w for d in declared for w in re.findall(r"[A-Za-z_]\w*", c_text(d))}
    includes = [f"<{h}>" for h in sorted({_STANDARD[n] for n in names & set(_STANDARD)})]
    if any(_own_types(d) for d in declared):
        includes += re.findall(r'^[ \t]*#[ \t]*include[ \t]*("[^"\n]+")', text, re.M)
    guard = options.prefix.upper() + "_" + re.sub(r"\W", "_", options.stem).upper() + "_H"
    lines = [f"/* {GENERATED} from {source.name.rsplit('/', 1)[-1]}; edit that file, not this one. */",
             f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [*(f"#include {i}" for i in includes), ""] if includes else []
    lines += ["#ifdef __cplusplus", 'extern "C" {']
    lines += [f"{_plain(d)};" for d in declared]
    lines += ["}", "#else", *(f"{c_text(d)};" for d in declared), "#endif", "", "#endif"]
    return wrapped("\n".join(lines) + "\n")


def _declarations(source: Opened) -> list[c_ast.Decl]:
    found: dict[str, c_ast.Decl] = {}
    for s in source.slices:
        if s.function and s.function not in found and s.refusal is None:
            tree = parse_with_gaps(s).ast
            found[s.function] = next(e.decl for e in tree.ext
                                     if isinstance(e, c_ast.FuncDef) and e.decl.name == s.function)
    return [d for d in found.values() if "static" not in (d.storage or ())]


def _own_types(declared: c_ast.Node) -> bool:
    """Whether the declaration uses a type that neither C nor a standard header has."""
    if isinstance(declared, c_ast.IdentifierType):
        return len(declared.names) == 1 and declared.names[0] not in (*_STANDARD, *_BASIC)
    if isinstance(declared, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
        return True
    return any(_own_types(child) for child in declared)


_BASIC = ("void", "char", "short", "int", "long", "float", "double", "signed", "unsigned", "_Bool")


def _plain(declared: c_ast.Decl) -> str:
    """The declaration with arrays of variable size as pointers to their elements, which is all that C++ can call."""
    function = declared.type
    parameters = []
    for p in getattr(function.args, "params", None) or ():
        node, varies = getattr(p, "type", None), False
        while isinstance(node, (c_ast.ArrayDecl, c_ast.PtrDecl)):
            varies = varies or (isinstance(node, c_ast.ArrayDecl) and not isinstance(node.dim, c_ast.Constant))
            node = node.type
        pointer = " ".join([*node.quals, c_text(node.type), f"*{p.name}"]) if varies and node is not None else ""
        parameters.append(pointer or re.sub(r"\brestrict\b ?", "", c_text(p)))
    head = c_text(c_ast.Decl(declared.name, [], [], [], [], c_ast.FuncDecl(None, function.type), None, None))
    return head[: head.rindex("(")] + f"({', '.join(parameters) or 'void'})"
