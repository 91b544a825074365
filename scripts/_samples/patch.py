"""Rewrites a loop's PBK/BRK pair as PCNT/CONT in a cubin for sm_50 to sm_62.

ptxas has not been seen to emit PCNT for these architectures, although the hardware and the disassemblers know it. The
two pairs differ in the opcode and in the tag of the token only, so the rewritten kernel does the same.
"""

import io
import struct

from elftools.elf.elffile import ELFFile

from _samples.attributes import LAST_WITH_CONTROL_WORDS, hexed, indirect_targets, instruction_at

PBK, PCNT, BRK, CONT = 0xE2A, 0xE2B, 0xE34, 0xE35
OPCODE_SHIFT = 52
RELATIVE_SHIFT, RELATIVE_BITS = 20, 24


def _opcode(word: int) -> int:
    return word >> OPCODE_SHIFT


def _target(word: int, address: int) -> int:
    relative = (word >> RELATIVE_SHIFT) & ((1 << RELATIVE_BITS) - 1)
    sign = relative >> (RELATIVE_BITS - 1)
    return address + 8 + relative - (sign << RELATIVE_BITS)


def continue_tokens(cubin: bytes, arch: int, kernel: str) -> bytes:
    """Return the cubin with the kernel's last PBK, and each BRK to its target, rewritten; newer code stays as it is.

    Raises:
        ValueError: the kernel is not there, or has no PBK.

    """
    if arch > LAST_WITH_CONTROL_WORDS:
        return cubin
    section = ELFFile(io.BytesIO(cubin)).get_section_by_name(f".text.{kernel}")
    if section is None:
        message = f"no section for {kernel}"
        raise ValueError(message)
    code = section.data()
    words = {8 * k: word for k, (word,) in enumerate(struct.iter_unpack("<Q", code)) if k % 4}
    pushes = [address for address, word in words.items() if _opcode(word) == PBK]
    if not pushes:
        message = f"{kernel} has no PBK to rewrite"
        raise ValueError(message)
    push = pushes[-1]
    target = hexed(instruction_at(_target(words[push], push), arch))
    known = indirect_targets(cubin, arch)[kernel]["targets"]
    changed = {push: PCNT} | {a: CONT for a, w in words.items() if _opcode(w) == BRK and known[hexed(a)] == [target]}
    out = bytearray(cubin)
    for address, opcode in changed.items():
        word = words[address] & ((1 << OPCODE_SHIFT) - 1) | opcode << OPCODE_SHIFT
        struct.pack_into("<Q", out, section["sh_offset"] + address, word)
    return bytes(out)
