export { missingForApiServer } from './api-server/missing-for-api-server.ts';
export { type ApiServer, startApiServer } from './api-server/start-api-server.ts';
export { debianFiles } from './parts/debian-files.ts';
export { kubectlAndHelm } from './parts/kubectl-and-helm.ts';
