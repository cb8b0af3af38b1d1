import { Type } from 'typebox';
import { type PropertyOwner, propertyOperators } from './property-filter.ts';

/** The query parameter `properties` of a list that can be filtered by the properties of these. */
export function propertiesQuery(owners: readonly PropertyOwner[]) {
  return Type.Optional(
    Type.String({
      description: `Only what meets all these filters: a JSON array of \`{"key": "$browser", "value": ["Chrome", "Safari"], "operator": "exact", "type": "${owners[0]}"}\`. \`type\`: ${owners.map((owner) => `\`${owner}\``).join(' or ')} (\`${owners[0]}\` if absent). \`operator\`: ${propertyOperators.map((operator) => `\`${operator}\``).join(', ')} (\`exact\` if absent). Of several values any one will do. Regular expressions are those of RE2 without flags but a leading \`(?i)\`, 200 characters at most; times are ISO 8601 or relative (\`-7d\`).`,
    }),
  );
}
