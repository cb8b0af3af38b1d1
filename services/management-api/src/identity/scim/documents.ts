// Builds the SCIM discovery documents for identity providers (RFC 7643, sections 5 to 7).

import { maxPageSize, schemas } from './protocol.ts';

export function serviceProviderConfig(base: string) {
  const no = { supported: false };
  return {
    schemas: [schemas.config],
    patch: { supported: true },
    bulk: { ...no, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: maxPageSize },
    changePassword: no,
    sort: no,
    etag: no,
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: "The domain's SCIM token, which is shown only once, when it is created.",
        primary: true,
      },
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${base}/ServiceProviderConfig` },
  };
}

export function resourceTypes(base: string) {
  return [
    ['User', 'Users', schemas.user, 'A user with an email address in the domain.'],
    ['Group', 'Groups', schemas.group, 'A role in the organization.'],
  ].map(([id = '', path = '', schema = '', description = '']) => ({
    schemas: [schemas.resourceType],
    id,
    name: id,
    description,
    endpoint: `/${path}`,
    schema,
    schemaExtensions: [],
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
  { name: 'value', description: `ID of the ${what.toLowerCase()}.`, mutability: 'immutable' },
  { name: 'display', description: 'Name of the referenced resource.', mutability: 'readOnly' },
  {
    name: '$ref',
    type: 'reference',
    referenceTypes: [what],
    description: 'URL of the referenced resource.',
    mutability: 'immutable',
  },
];

const user: Attribute[] = [
  {
    name: 'userName',
    description: 'Email address of the user, which must be in the domain.',
    required: true,
    uniqueness: 'server',
  },
  {
    name: 'name',
    type: 'complex',
    description: 'Name of the user.',
    subAttributes: [
      { name: 'givenName', description: 'First name.' },
      { name: 'familyName', description: 'Last name.' },
    ],
  },
  {
    name: 'displayName',
    description: 'First and last name of the user, or the email address if the user has no name.',
    mutability: 'readOnly',
  },
  {
    name: 'emails',
    type: 'complex',
    multiValued: true,
    description: 'The email address, which is the same as userName.',
    mutability: 'readOnly',
    subAttributes: [
      { name: 'value', description: 'The email address.', mutability: 'readOnly' },
      { name: 'type', description: 'Always "work".', mutability: 'readOnly' },
      { name: 'primary', type: 'boolean', description: 'Always true.', mutability: 'readOnly' },
    ],
  },
  { name: 'active', type: 'boolean', description: 'Whether the user is a member of the organization and can sign in.' },
  {
    name: 'groups',
    type: 'complex',
    multiValued: true,
    description: 'Roles of the user.',
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
    description: 'Users of the domain who have the role.',
    subAttributes: reference('User'),
  },
];

export function schemaDocuments(base: string) {
  return [
    { id: schemas.user, name: 'User', description: 'A user with an email address in the domain.', attributes: user },
    { id: schemas.group, name: 'Group', description: 'A role in the organization.', attributes: group },
  ].map(({ attributes, ...document }) => ({
    schemas: [schemas.schema],
    ...document,
    attributes: attributes.map(described),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${document.id}` },
  }));
}
