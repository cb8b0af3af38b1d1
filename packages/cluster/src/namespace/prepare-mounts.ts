import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runOrExplain } from '../parts/run-or-explain.ts';

/** Inside namespaces of our own: what the parts of a node write to places they insist on stays in `directory`. */
export async function prepareMounts(directory: string): Promise<void> {
  const mount = (...words: string[]) => runOrExplain('mount', words);
  const [upper, work] = [join(directory, 'var'), join(directory, 'var-work')];
  mkdirSync(upper);
  mkdirSync(work);
  await mount('-t', 'overlay', 'overlay', '-o', `lowerdir=/var,upperdir=${upper},workdir=${work}`, '/var');
  await mount('-t', 'tmpfs', 'tmpfs', '/run');
  // The kubelet's mounts have to be seen by containers.
  await mount('--make-rshared', '/');
}
