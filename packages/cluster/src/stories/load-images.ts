import type { Cluster } from '../cluster/start-cluster.ts';
import { pauseImageName } from '../node/pause-image.ts';
import type { StoryContext } from './story.ts';

const repository = 'docker.io/millrace/millrace';

/** Gives every node the image of this version, under the name of another version too, and one that does nothing. */
export async function loadImages({ nodes }: Cluster, archive: string, version: string): Promise<StoryContext['tags']> {
  const tags = { installed: version, next: `${version}-next`, broken: `${version}-broken` };
  for (const node of nodes) {
    await node.load(archive);
    await node.tag(`${repository}:${version}`, `${repository}:${tags.next}`);
    await node.tag(pauseImageName, `${repository}:${tags.broken}`);
  }
  return tags;
}
