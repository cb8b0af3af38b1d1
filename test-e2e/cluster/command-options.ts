/** The command-line options, and the options that the first process passes to the process in the namespaces. */
export interface ClusterCommandOptions {
  only?: string;
  run?: string;
  chart?: string;
  image?: string;
  report?: string;
  from?: string;
  rate?: string;
  /** An empty directory for all files. */
  inside?: string;
  /** The packed releases that `from` names: `OlderRelease[]` as JSON. */
  older?: string;
}
