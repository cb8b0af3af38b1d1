/** Options as they are given, and what the first process tells the one in the namespaces. */
export interface ClusterCommandOptions {
  only?: string;
  run?: string;
  chart?: string;
  image?: string;
  report?: string;
  /** Where everything is kept, empty. */
  inside?: string;
}
