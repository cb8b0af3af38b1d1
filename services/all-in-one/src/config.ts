import { integerSetting, logLevelConfigFields, metricsConfigFields } from '@millrace/runtime';
import { Type } from 'typebox';

/** The settings of the whole process. They replace each service's own settings of the same name. */
export const allInOneConfigSchema = Type.Object({
  healthPort: integerSetting(
    8001,
    'TCP port of the health endpoints and metrics of the whole process; 0 picks a free port',
    {
      max: 65_535,
    },
  ),
  healthHost: Type.String({ default: '0.0.0.0', description: 'address to listen on' }),
  ...metricsConfigFields,
  ...logLevelConfigFields,
});
