// Writes an OCI image. It consists of layers as compressed tar files, a manifest, and the archive that contains them.
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Gzip } from 'fflate';
import { type Header, pack } from 'tar-stream';
import { findCacheDirectory } from '../fetched-programs.ts';
import type { Platform } from './base.ts';
import { type Entry, nonroot, sortEntries, type Tree } from './layers.ts';

interface ImageName {
  /** The image name including the registry, for example `docker.io/millrace/millrace`. */
  repository: string;
  tag: string;
}

export interface Labels {
  version: string;
  /** When the sources were last changed, in ISO 8601. */
  created: string;
  /** The commit hash, or an empty string if unknown. */
  revision: string;
}

interface PlatformImage {
  platform: Platform;
  manifest: Blob;
  config: Blob;
  layers: readonly Layer[];
}

export interface ImageContent {
  layers: readonly { title: string; layer: Layer }[];
  labels: Labels;
  runs?: { Entrypoint: string[] };
}

const types = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

/** The default container configuration: an unprivileged user runs the command-line client. */
const programs = {
  User: `${nonroot.uid}:${nonroot.gid}`,
  Env: ['PATH=/usr/bin', 'HOME=/tmp', 'NODE_ENV=production', 'MALLOC_MMAP_THRESHOLD_=262144'],
  Entrypoint: ['/usr/bin/node'],
  Cmd: ['millrace.mjs'],
  WorkingDir: '/app',
};

/** Creates the image for one platform. @param layers the layers with their titles, lowest first */
export function platformImage(platform: Platform, { layers, labels, runs = programs }: ImageContent): PlatformImage {
  const config = jsonBlob({
    architecture: platform.architecture,
    os: 'linux',
    created: labels.created,
    config: { ...runs, Labels: readImageLabels(labels) },
    rootfs: { type: 'layers', diff_ids: layers.map(({ layer }) => layer.diffId) },
    history: layers.map(({ title }) => ({ created: labels.created, created_by: title })),
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: descriptor(types.config, config),
    layers: layers.map(({ layer }) => descriptor(types.layer, layer)),
    annotations: readImageLabels(labels),
  });
  return { platform, manifest, config, layers: layers.map(({ layer }) => layer) };
}

function readImageLabels({ version, created, revision }: Labels): Record<string, string> {
  return {
    'org.opencontainers.image.title': 'Millrace',
    'org.opencontainers.image.description': 'Self-hosted product analytics backend: all services and the command line',
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.created': created,
    ...(revision ? { 'org.opencontainers.image.revision': revision } : {}),
  };
}

const jsonBlob = (value: unknown): Blob => {
  const content = Buffer.from(JSON.stringify(value));
  return { content, digest: digestOf(content) };
};

const descriptor = (mediaType: string, { digest, content }: Blob) => ({ mediaType, digest, size: content.length });

/**
 * Returns the files of an archive for `ctr image import`, `docker load` and `skopeo copy oci-archive:`, by path. The
 * archive is an OCI image layout, with a manifest for Docker that describes the first platform's image.
 */
function imageLayout({ repository, tag }: ImageName, images: readonly PlatformImage[]): Map<string, Buffer> {
  const manifests = images.map(({ platform, manifest }) => ({
    ...descriptor(types.manifest, manifest),
    platform: { architecture: platform.architecture, os: 'linux' },
  }));
  const index = jsonBlob({ schemaVersion: 2, mediaType: types.index, manifests });
  const isOfMany = images.length > 1;
  const [whole] = isOfMany ? [descriptor(types.index, index)] : manifests;
  const annotations = { 'io.containerd.image.name': `${repository}:${tag}`, 'org.opencontainers.image.ref.name': tag };
  const blobs = [
    ...images.flatMap(({ manifest, config, layers }) => [manifest, config, ...layers]),
    ...(isOfMany ? [index] : []),
  ];
  const [first] = images;
  const forDocker = first && {
    Config: blobPath(first.config),
    RepoTags: [`${repository.replace(/^docker\.io\//, '')}:${tag}`],
    Layers: first.layers.map(blobPath),
  };
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  return new Map([
    ['oci-layout', json({ imageLayoutVersion: '1.0.0' })],
    ['index.json', json({ schemaVersion: 2, mediaType: types.index, manifests: [{ ...whole, annotations }] })],
    ['manifest.json', json([forDocker])],
    ...blobs.map((blob) => [blobPath(blob), blob.content] as const),
  ]);
}

const blobPath = ({ digest }: Blob): string => `blobs/${digest.replace(':', '/')}`;

/** Writes an image for one or more platforms to an archive for containerd, Docker and skopeo. */
export async function writeArchive(file: string, name: ImageName, images: readonly PlatformImage[]): Promise<void> {
  const entries = [...imageLayout(name, images)].map(([path, content]) => ({ name: path, content }));
  await writeFile(file, await tarOf(entries.map((entry) => ({ ...entry, type: 'file' as const, mode: 0o644 }))));
}

/** An image file, named by its content hash. */
interface Blob {
  digest: string;
  content: Buffer;
}

interface Layer extends Blob {
  diffId: string;
}

const digestOf = (content: Uint8Array | string): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Packs a tree into a compressed tar file, which has the same bytes on every machine and Node.js version. */
export async function writeLayer(tree: Tree): Promise<Layer> {
  const tar = await tarOf(
    sortEntries(tree).map(([path, entry]) => ({ ...headerOf(entry), name: path, content: contentOf(entry) })),
  );
  const diffId = digestOf(tar);
  const content = await compressed(tar, diffId);
  return { diffId, content, digest: digestOf(content) };
}

/** Creates a tar file without times and users, so that equal entries produce equal files. */
async function tarOf(entries: readonly (Partial<Header> & { name: string; content: Buffer })[]): Promise<Buffer> {
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
 * Compresses with a JavaScript library, because the output of zlib in Node.js depends on the processor and the version.
 * Compressing the Node.js layer takes five seconds, so results are cached.
 */
async function compressed(tar: Buffer, diffId: string): Promise<Buffer> {
  const cached = join(findCacheDirectory(), 'layers', diffId.replace(':', '-'));
  if (existsSync(cached)) return readFile(cached);
  const content = compress(tar);
  await mkdir(join(cached, '..'), { recursive: true });
  await writeFile(`${cached}.${process.pid}`, content);
  await rename(`${cached}.${process.pid}`, cached);
  return content;
}

function compress(tar: Buffer): Buffer {
  const chunks: Uint8Array[] = [];
  const gzip = new Gzip({ level: 6, mtime: 0 }, (chunk) => chunks.push(chunk));
  const step = 1 << 20;
  for (let at = 0; at < tar.length; at += step) gzip.push(tar.subarray(at, at + step), at + step >= tar.length);
  return Buffer.concat(chunks);
}
