/**
 * The options of the command line. The program also passes some of them to itself when it starts again in the
 * namespaces.
 */
export interface ClusterCommandOptions {
  only?: string;
  run?: string;
  chart?: string;
  image?: string;
  report?: string;
  from?: string;
  rate?: string;
  /** Set in the namespaces: an empty directory for all files. */
  inside?: string;
  /** The packed releases that `from` refers to, as `OlderRelease[]` in JSON. */
  older?: string;
}
