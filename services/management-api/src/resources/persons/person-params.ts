import { Type } from 'typebox';
import { projectParams } from '../../access/addressed-project.ts';

export const personParams = Type.Object({
  ...projectParams.properties,
  id: Type.String({
    description:
      'The uuid, the number or a distinct id of the person, tried in this order; percent-encoded as all parts of an address.',
  }),
});
