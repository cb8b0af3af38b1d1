/** Command-line options. The program passes some of them to the instance of itself that it starts in the namespaces. */
export interface ClusterCommandOptions {
  only?: string;
  run?: string;
  chart?: string;
  image?: string;
  report?: string;
  from?: string;
  rate?: string;
  /** Set only in the namespaces: an empty directory for all files. */
  inside?: string;
  /** The packed releases of `from`, as `OlderRelease[]` in JSON. */
  older?: string;
}
