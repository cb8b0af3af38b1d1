import { writeFile } from 'node:fs/promises';
import { type ImageName, imageLayout, type PlatformImage } from './oci-image.ts';
import { tarOf } from './write-layer.ts';

/** Writes one image, of one platform or several, to a file that containerd, Docker and skopeo take. */
export async function writeArchive(file: string, name: ImageName, images: readonly PlatformImage[]): Promise<void> {
  const entries = [...imageLayout(name, images)].map(([path, content]) => ({ name: path, content }));
  await writeFile(file, await tarOf(entries.map((entry) => ({ ...entry, type: 'file' as const, mode: 0o644 }))));
}
