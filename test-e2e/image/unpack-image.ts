import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface ImageConfig {
  architecture: string;
  config: { User: string; Env: string[]; Entrypoint: string[]; WorkingDir: string; Labels: Record<string, string> };
  rootfs: { diff_ids: string[] };
}

export interface UnpackedImage {
  config: ImageConfig;
  /** Directory of the container's root file system. */
  rootfs: string;
  layerSizes: number[];
}

interface Descriptor {
  digest: string;
  size: number;
  platform?: { architecture: string };
}

/** Unpacks an archive as a container runtime does. Returns one image per platform. */
export async function unpackImages(archive: string, directory: string): Promise<UnpackedImage[]> {
  const layout = join(directory, 'layout');
  await mkdir(layout, { recursive: true });
  await run('tar', ['-xf', archive, '-C', layout]);
  const read = async (file: string) => JSON.parse(await readFile(join(layout, file), 'utf8'));
  const blob = ({ digest }: Descriptor) => `blobs/${digest.replace(':', '/')}`;

  let { manifests }: { manifests: Descriptor[] } = await read('index.json');
  const [outer] = manifests;
  if (outer && outer.platform === undefined) ({ manifests } = await read(blob(outer)));
  return Promise.all(
    manifests.map(async (descriptor) => {
      const manifest: { config: Descriptor; layers: Descriptor[] } = await read(blob(descriptor));
      const rootfs = join(directory, String(descriptor.platform?.architecture));
      await mkdir(rootfs);
      for (const layer of manifest.layers) {
        await run('tar', [
          '-xzf',
          join(layout, blob(layer)),
          '-C',
          rootfs,
          '--no-same-owner',
          '--preserve-permissions',
        ]);
      }
      return { config: await read(blob(manifest.config)), rootfs, layerSizes: manifest.layers.map(({ size }) => size) };
    }),
  );
}
