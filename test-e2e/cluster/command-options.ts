/** Options as they are given, and what the first process tells the one in the namespaces. */
export interface ClusterCommandOptions {
  only?: string;
  run?: string;
  chart?: string;
  image?: string;
  report?: string;
  from?: string;
  rate?: string;
  /** Where everything is kept, empty. */
  inside?: string;
  /** What `from` named, packed: `OlderRelease[]` as JSON. */
  older?: string;
}
