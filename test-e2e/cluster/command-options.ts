/** The options of the command line, and those that the first process passes to the process in the namespaces. */
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
