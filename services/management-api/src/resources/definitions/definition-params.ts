import { Type } from 'typebox';
import { projectParams } from '../../access/addressed-project.ts';

export const definitionParams = Type.Object({
  ...projectParams.properties,
  id: Type.String({ format: 'uuid', description: 'Id of the definition.' }),
});

export const searchQuery = {
  search: Type.Optional(
    Type.String({ description: 'Only names that contain every word of this text somewhere, in any case.' }),
  ),
};
