import { readFile } from 'node:fs/promises';
import { missingLibraries, readElf } from './missing-libraries.ts';
import { file, type Tree } from './tree.ts';

/** The smallest file that asks for libraries: a header, two segments, a table of names and what points at it. */
function library(...names: string[]): Buffer {
  const strings = Buffer.from(`\0${names.map((name) => `${name}\0`).join('')}`);
  const [stringsAt, dynamicAt] = [0x100, 0x200];
  // Loaded a page further than it lies in the file, as real ones are.
  const shift = 0x1000;
  const bytes = Buffer.alloc(0x400);
  bytes.writeUInt32BE(0x7f454c46, 0);
  bytes.set([2, 1], 4);
  bytes.writeBigUInt64LE(0x40n, 0x20);
  bytes.writeUInt16LE(0x38, 0x36);
  bytes.writeUInt16LE(2, 0x38);
  strings.copy(bytes, stringsAt);
  const entries = names.map((name) => [1, strings.indexOf(`\0${name}\0`) + 1]);
  for (const [index, [tag = 0, value = 0]] of [...entries, [5, stringsAt + shift], [0, 0]].entries()) {
    bytes.writeBigUInt64LE(BigInt(tag), dynamicAt + index * 16);
    bytes.writeBigUInt64LE(BigInt(value), dynamicAt + index * 16 + 8);
  }
  const segments = [
    { type: 1, offset: 0, address: shift, size: 0x400 },
    { type: 2, offset: dynamicAt, address: dynamicAt + shift, size: (names.length + 2) * 16 },
  ];
  for (const [index, { type, offset, address, size }] of segments.entries()) {
    const at = 0x40 + index * 0x38;
    bytes.writeUInt32LE(type, at);
    bytes.writeBigUInt64LE(BigInt(offset), at + 0x08);
    bytes.writeBigUInt64LE(BigInt(address), at + 0x10);
    bytes.writeBigUInt64LE(BigInt(size), at + 0x20);
  }
  return bytes;
}

test('what an add-on asks for is missed, though the program does without it', () => {
  const tree: Tree = new Map([
    ['usr/bin/node', file(library('libc.so.6'))],
    ['usr/lib/libc.so.6', file(library())],
    ['app/node_modules/crc32/crc32.node', file(library('libc.so.6', 'librt.so.1'))],
  ]);
  const missing = [{ library: 'librt.so.1', askedForBy: 'app/node_modules/crc32/crc32.node' }];
  expect(missingLibraries(tree)).toEqual(missing);
  tree.set('usr/lib/librt.so.1', file(library('libc.so.6')));
  expect(missingLibraries(tree)).toEqual([]);
});

test.each([
  ['text', Buffer.from('#!/bin/sh\n')],
  ['nothing', Buffer.alloc(0)],
  ['a file that is cut off', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1])],
])('%s asks for nothing', (_, content) => {
  expect(readElf(content)).toBeNull();
});

(process.platform === 'linux' ? test : test.skip)('a real program: the Node that runs this', async () => {
  expect(readElf(await readFile(process.execPath))?.needed).toContain('libc.so.6');
});
