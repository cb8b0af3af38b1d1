export { type BootstrapInput, type Bootstrapped, bootstrapInstallation } from './bootstrap-installation.ts';
