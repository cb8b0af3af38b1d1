/** Command-line options. The program passes some of them to the instance of itself that it starts in the namespaces. */
export interface ClusterCommandOptions {
  only?: string;
  run?: string;
  chart?: string;
  image?: string;
  report?: string;
  from?: string;
  rate?: string;
  /** An empty directory for all files. Set only in the namespaces. */
  inside?: string;
  /** The packed releases that `from` lists, as a JSON-encoded `OlderRelease[]`. */
  older?: string;
}
