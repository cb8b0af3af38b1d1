export { missingForApiServer } from './api-server/missing-for-api-server.ts';
export { type ApiServer, startApiServer } from './api-server/start-api-server.ts';
export { mayConnect, type Party, type PodParty } from './network-policies/may-connect.ts';
export type { LabelSelector, PolicyRule } from './network-policies/network-policy.ts';
export { debianFiles } from './parts/debian-files.ts';
export { kubectlAndHelm } from './parts/kubectl-and-helm.ts';
