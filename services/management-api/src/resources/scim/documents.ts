// What a provider may read of this SCIM itself (RFC 7643, 5 to 7).

import { mostOnPage, schemas } from './protocol.ts';

export function serviceProviderConfig(base: string) {
  const no = { supported: false };
  return {
    schemas: [schemas.config],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: mostOnPage },
    changePassword: no,
    sort: no,
    etag: no,
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'The token of the domain, as it was shown when it was made.',
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

export function resourceTypes(base: string) {
  return [
    ['User', 'Users', schemas.user, 'A person of the domain.'],
    ['Group', 'Groups', schemas.group, 'A role of the organization.'],
  ].map(([id = '', path = '', schema = '', description = '']) => ({
    schemas: [schemas.resourceType],
    ...{ id, name: id, description, endpoint: `/${path}`, schema, schemaExtensions: [] },
    meta: { resourceType: 'ResourceType', location: `${base}/ResourceTypes/${id}` },
  }));
}

interface Attribute {
  name: string;
  type?: 'string' | 'boolean' | 'complex' | 'reference';
  description: string;
  required?: boolean;
  multiValued?: boolean;
  mutability?: 'readOnly' | 'readWrite' | 'immutable';
  referenceTypes?: ('User' | 'Group')[];
  uniqueness?: 'none' | 'server';
  subAttributes?: Attribute[];
}

function described({ subAttributes, ...attribute }: Attribute): object {
  const usual = { type: 'string', multiValued: false, required: false, caseExact: false, mutability: 'readWrite' };
  const rest = { returned: 'default', uniqueness: 'none' };
  return { ...usual, ...rest, ...attribute, ...(subAttributes && { subAttributes: subAttributes.map(described) }) };
}

const reference = (what: 'User' | 'Group'): Attribute[] => [
  { name: 'value', description: `Id of the ${what.toLowerCase()}.`, mutability: 'immutable' },
  { name: 'display', description: 'What it is called.', mutability: 'readOnly' },
  {
    name: '$ref',
    type: 'reference',
    referenceTypes: [what],
    description: 'Its address.',
    mutability: 'immutable',
  },
];

const user: Attribute[] = [
  { name: 'userName', description: 'E-mail address in the domain.', required: true, uniqueness: 'server' },
  {
    name: 'name',
    type: 'complex',
    description: 'What the person is called.',
    subAttributes: [
      { name: 'givenName', description: 'First name.' },
      { name: 'familyName', description: 'Last name.' },
    ],
  },
  { name: 'displayName', description: 'First and last name.', mutability: 'readOnly' },
  {
    name: 'emails',
    type: 'complex',
    multiValued: true,
    description: 'The address of userName.',
    mutability: 'readOnly',
    subAttributes: [
      { name: 'value', description: 'The address.', mutability: 'readOnly' },
      { name: 'type', description: 'Always work.', mutability: 'readOnly' },
      { name: 'primary', type: 'boolean', description: 'Always true.', mutability: 'readOnly' },
    ],
  },
  { name: 'active', type: 'boolean', description: 'Whether the person is a member of the organization.' },
  {
    name: 'groups',
    type: 'complex',
    multiValued: true,
    description: 'Roles of the person.',
    mutability: 'readOnly',
    subAttributes: reference('Group'),
  },
];

const group: Attribute[] = [
  { name: 'displayName', description: 'Name of the role.', required: true, uniqueness: 'server' },
  {
    name: 'members',
    type: 'complex',
    multiValued: true,
    description: 'People of the domain with the role.',
    subAttributes: reference('User'),
  },
];

export function schemaDocuments(base: string) {
  return [
    { id: schemas.user, name: 'User', description: 'A person of the domain.', attributes: user },
    { id: schemas.group, name: 'Group', description: 'A role of the organization.', attributes: group },
  ].map(({ attributes, ...document }) => ({
    schemas: [schemas.schema],
    ...document,
    attributes: attributes.map(described),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${document.id}` },
  }));
}
