import { nonroot } from './layers.ts';
import type { Platform } from './platform.ts';
import { type Blob, digestOf, type Layer } from './write-layer.ts';

export interface ImageName {
  /** With the registry: `docker.io/millrace/millrace`. */
  repository: string;
  tag: string;
}

export interface Labels {
  version: string;
  /** When the source was last changed, as ISO 8601. */
  created: string;
  /** The commit; empty when it is not known. */
  revision: string;
}

export interface PlatformImage {
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

/** What an image runs, and as whom: the programs of this system, unless said otherwise. */
const programs = {
  User: `${nonroot.uid}:${nonroot.gid}`,
  Env: ['PATH=/usr/bin', 'HOME=/tmp', 'NODE_ENV=production'],
  Entrypoint: ['/usr/bin/node'],
  Cmd: ['millrace.mjs'],
  WorkingDir: '/app',
};

/** One image of one platform. @param layers from the bottom up, each with what it is */
export function platformImage(platform: Platform, { layers, labels, runs = programs }: ImageContent): PlatformImage {
  const config = jsonBlob({
    architecture: platform.architecture,
    os: 'linux',
    created: labels.created,
    config: { ...runs, Labels: imageLabels(labels) },
    rootfs: { type: 'layers', diff_ids: layers.map(({ layer }) => layer.diffId) },
    history: layers.map(({ title }) => ({ created: labels.created, created_by: title })),
  });
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: descriptor(types.config, config),
    layers: layers.map(({ layer }) => descriptor(types.layer, layer)),
    annotations: imageLabels(labels),
  });
  return { platform, manifest, config, layers: layers.map(({ layer }) => layer) };
}

function imageLabels({ version, created, revision }: Labels): Record<string, string> {
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
 * The files of an archive that `ctr image import`, `docker load` and `skopeo copy oci-archive:` take, by path: an OCI image
 * layout, and for Docker its own list of the first platform's layers.
 */
export function imageLayout({ repository, tag }: ImageName, images: readonly PlatformImage[]): Map<string, Buffer> {
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
