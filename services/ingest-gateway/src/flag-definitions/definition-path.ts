/** What servers that evaluate by themselves ask for. */
export type DefinitionTarget =
  | { label: '/flags/definitions' | '/api/feature_flag/local_evaluation'; environment?: never }
  /** `environment`: its number, or `@current` for the one of the project API key. */
  | { label: '/feature_flags/local_evaluation'; environment: string }
  | { label: '/remote_config'; environment: string; flag: string };

const documents = new Map<string, DefinitionTarget>(
  (['/flags/definitions', '/api/feature_flag/local_evaluation'] as const).flatMap((label) => [
    [label, { label }],
    [`${label}/`, { label }],
  ]),
);

const localEvaluation = /^\/api\/(?:projects|environments)\/([^/]+)\/feature_flags\/local_evaluation\/?$/;
const remoteConfig = /^\/api\/(?:projects|environments)\/([^/]+)\/feature_flags\/([^/]+)\/remote_config\/?$/;

/** @param path without the query. */
export function findDefinitionTarget(path: string): DefinitionTarget | undefined {
  const document = documents.get(path);
  if (document !== undefined || !path.startsWith('/api/')) return document;
  const [, environmentOfAll] = localEvaluation.exec(path) ?? [];
  if (environmentOfAll !== undefined) {
    return { label: '/feature_flags/local_evaluation', environment: environmentOfAll };
  }
  const [, environment, flag] = remoteConfig.exec(path) ?? [];
  return environment === undefined || flag === undefined ? undefined : { label: '/remote_config', environment, flag };
}
