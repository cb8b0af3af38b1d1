import { integerSetting, metricsConfigFields } from '@millrace/runtime';
import { Type } from 'typebox';

/** What the process has once, in place of what each service would have by itself. */
export const allInOneConfigSchema = Type.Object({
  healthPort: integerSetting(8001, 'a TCP port for the health and metrics of the whole process; 0 takes a free one', {
    max: 65_535,
  }),
  healthHost: Type.String({ default: '0.0.0.0', description: 'the address to listen on' }),
  ...metricsConfigFields,
  logLevel: Type.String({ default: 'info', description: 'error, warn, info or debug' }),
});
