import type { Cluster } from '../cluster/start-cluster.ts';
import type { StoryResult, StorySetting } from './measure-story.ts';
import type { Release } from './release.ts';
import type { StoryStores } from './story-stores.ts';

/** What a story has to work with: everything runs, and all is well. */
export interface StoryContext {
  cluster: Cluster;
  release: Release;
  chart: string;
  /** For files. */
  directory: string;
  stores: StoryStores;
  setting: StorySetting;
  /** Tags of the image that every node has. */
  tags: { installed: string; next: string; broken: string };
  print(line: string): void;
}

/** Something that happens to an installation under load. It leaves everything as it was. */
export interface Story {
  name: string;
  run(context: StoryContext): Promise<StoryResult>;
}
