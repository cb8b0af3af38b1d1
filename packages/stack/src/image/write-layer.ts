import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Gzip } from 'fflate';
import { type Header, pack } from 'tar-stream';
import { cacheDirectory } from '../process/cache-directory.ts';
import { type Entry, inOrder, type Tree } from './tree.ts';

/** A file of an image, named by what it holds. */
export interface Blob {
  digest: string;
  content: Buffer;
}

export interface Layer extends Blob {
  /** Of the tar before it was compressed. */
  diffId: string;
}

export const digestOf = (content: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** A compressed tar of the tree. The same tree gives the same bytes, on every machine and every Node. */
export async function writeLayer(tree: Tree): Promise<Layer> {
  const tar = await tarOf(
    inOrder(tree).map(([path, entry]) => ({ ...headerOf(entry), name: path, content: contentOf(entry) })),
  );
  const diffId = digestOf(tar);
  const content = await compressed(tar, diffId);
  return { diffId, content, digest: digestOf(content) };
}

/** A tar in which nothing tells when or by whom it was made. */
export async function tarOf(
  entries: readonly (Partial<Header> & { name: string; content: Buffer })[],
): Promise<Buffer> {
  const tar = pack();
  const chunks: Buffer[] = [];
  const whole = (async () => {
    for await (const chunk of tar) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  })();
  for (const { content, ...header } of entries) {
    tar.entry({ ...header, size: content.length, mtime: new Date(0), uid: 0, gid: 0, uname: '', gname: '' }, content);
  }
  tar.finalize();
  return whole;
}

function headerOf(entry: Entry): Partial<Header> {
  if (entry.kind === 'link') return { type: 'symlink', mode: 0o777, linkname: entry.target };
  return { type: entry.kind, mode: entry.mode };
}

const contentOf = (entry: Entry): Buffer => (entry.kind === 'file' ? entry.content : Buffer.alloc(0));

/**
 * By a compressor in JavaScript: that of Node is another one for each processor and version, with other bytes. It takes
 * five seconds for Node itself, so what was compressed once is kept.
 */
async function compressed(tar: Buffer, diffId: string): Promise<Buffer> {
  const kept = join(cacheDirectory(), 'layers', diffId.replace(':', '-'));
  if (existsSync(kept)) return readFile(kept);
  const content = compress(tar);
  await mkdir(join(kept, '..'), { recursive: true });
  await writeFile(`${kept}.${process.pid}`, content);
  await rename(`${kept}.${process.pid}`, kept);
  return content;
}

function compress(tar: Buffer): Buffer {
  const chunks: Uint8Array[] = [];
  const gzip = new Gzip({ level: 6, mtime: 0 }, (chunk) => chunks.push(chunk));
  const step = 1 << 20;
  for (let at = 0; at < tar.length; at += step) gzip.push(tar.subarray(at, at + step), at + step >= tar.length);
  return Buffer.concat(chunks);
}
