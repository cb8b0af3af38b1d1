export {
  type ApiServer,
  explainMissingApiServer as missingForApiServer,
  startApiServer,
} from './api-server/start-api-server.ts';
export type { LabelSelector, PolicyRule } from './network-policies.ts';
export { mayConnect, type Party, type PodParty } from './network-policies.ts';
export { readDebianFiles } from './parts/debian-files.ts';
export { fetchGoSources as goSources } from './parts/go-program.ts';
