import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { platformImage } from '@millrace/stack/src/image/oci-image.ts';
import { ownPlatform } from '@millrace/stack/src/image/platform.ts';
import { file } from '@millrace/stack/src/image/tree.ts';
import { writeArchive } from '@millrace/stack/src/image/write-archive.ts';
import { writeLayer } from '@millrace/stack/src/image/write-layer.ts';
import { goProgram } from '../parts/go-program.ts';

/** The file of the program. */
export const pauseProgram = () => goProgram({ module: 'pause', path: 'millrace/pause' });

const name = { repository: 'millrace.local/pause', tag: '1' };

/** What containerd holds the network of a pod open with. */
export const pauseImageName = `${name.repository}:${name.tag}`;

/** @returns the archive, written to `directory` */
export async function pauseImage(directory: string): Promise<string> {
  const layer = await writeLayer(new Map([['pause', file(readFileSync(await pauseProgram()), 0o755)]]));
  const labels = { version: name.tag, created: new Date(0).toISOString(), revision: '' };
  const content = { layers: [{ title: 'pause', layer }], labels, runs: { Entrypoint: ['/pause'] } };
  const archive = join(directory, 'pause.tar');
  await writeArchive(archive, name, [platformImage(ownPlatform(), content)]);
  return archive;
}
