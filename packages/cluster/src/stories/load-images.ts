import type { Cluster } from '../cluster/start-cluster.ts';
import { pauseImageName } from '../node/pause-image.ts';
import type { StoryContext } from './story.ts';

/** As the chart calls it. */
export const imageRepository = 'docker.io/millrace/millrace';

/** Gives every node the image of this version, under the name of another version too, one that does nothing, and others. */
export async function loadImages(
  { nodes }: Cluster,
  { image, version, others }: { image: string; version: string; others: readonly string[] },
): Promise<StoryContext['tags']> {
  const tags = { installed: version, next: `${version}-next`, broken: `${version}-broken` };
  for (const node of nodes) {
    for (const archive of [image, ...others]) await node.load(archive);
    await node.tag(`${imageRepository}:${version}`, `${imageRepository}:${tags.next}`);
    await node.tag(pauseImageName, `${imageRepository}:${tags.broken}`);
  }
  return tags;
}
