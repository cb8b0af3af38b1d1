// Which shared libraries the programs of an image ask for, read from their ELF headers, and which of these it lacks.
import { basename } from 'node:path';
import type { Tree } from './tree.ts';

export interface MissingLibrary {
  library: string;
  /** The path of a file that asks for it. */
  askedForBy: string;
}

/**
 * Libraries that programs, add-ons or other libraries of the image ask for and that are not in it. What a program asks for
 * is not all of it: an add-on that it loads later has needs of its own.
 */
export function missingLibraries(tree: Tree): MissingLibrary[] {
  const present = new Set([...tree.keys()].map((path) => basename(path)));
  const missing = new Map<string, string>();
  for (const [path, entry] of tree) {
    const elf = entry.kind === 'file' ? readElf(entry.content) : null;
    for (const library of elf?.needed ?? []) if (!present.has(library)) missing.set(library, path);
  }
  return [...missing].map(([library, askedForBy]) => ({ library, askedForBy }));
}

/** What of a shared library's or program's own description decides whether it can be loaded. */
interface ElfFile {
  /** Names of the libraries it asks for. */
  needed: string[];
}

const dynamicSegment = 2;
const loadSegment = 1;
const tag = { end: 0n, needed: 1n, stringTable: 5n };

/**
 * Reads the dynamic section of a 64-bit little-endian ELF file, which both platforms have. Done here because a file for
 * another processor cannot be asked by running anything.
 * @returns null when it is no such file, or is linked to nothing
 */
export function readElf(bytes: Buffer): ElfFile | null {
  if (bytes.length < 64 || bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) return null;
  const segments = programHeaders(bytes);
  const dynamic = segments.find(({ type }) => type === dynamicSegment);
  if (!dynamic) return null;
  const entries = dynamicEntries(bytes.subarray(dynamic.offset, dynamic.offset + dynamic.size));
  const strings = entries.find((entry) => entry.tag === tag.stringTable);
  if (!strings) return null;
  const table = toOffset(strings.value, segments);
  return {
    needed: entries
      .filter((entry) => entry.tag === tag.needed)
      .map((entry) => {
        const start = table + Number(entry.value);
        return bytes.toString('utf8', start, bytes.indexOf(0, start));
      }),
  };
}

interface Segment {
  type: number;
  offset: number;
  address: number;
  size: number;
}

function programHeaders(bytes: Buffer): Segment[] {
  const start = Number(bytes.readBigUInt64LE(0x20));
  const entrySize = bytes.readUInt16LE(0x36);
  return Array.from({ length: bytes.readUInt16LE(0x38) }, (_, index) => {
    const at = start + index * entrySize;
    return {
      type: bytes.readUInt32LE(at),
      offset: Number(bytes.readBigUInt64LE(at + 0x08)),
      address: Number(bytes.readBigUInt64LE(at + 0x10)),
      size: Number(bytes.readBigUInt64LE(at + 0x20)),
    };
  });
}

function dynamicEntries(section: Buffer): { tag: bigint; value: bigint }[] {
  const entries = [];
  for (let at = 0; at + 16 <= section.length; at += 16) {
    const entry = { tag: section.readBigUInt64LE(at), value: section.readBigUInt64LE(at + 8) };
    if (entry.tag === tag.end) break;
    entries.push(entry);
  }
  return entries;
}

/** Where in the file lies what will be loaded at an address. */
function toOffset(address: bigint, segments: readonly Segment[]): number {
  const at = Number(address);
  const segment = segments.find((one) => one.type === loadSegment && at >= one.address && at < one.address + one.size);
  return segment ? at - segment.address + segment.offset : at;
}
