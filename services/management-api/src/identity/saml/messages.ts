// Creates messages for SAML providers: this service's metadata, and sign-in requests.

import { deflateRawSync } from 'node:zlib';
import { AppError } from '@millrace/runtime';

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Returns this service provider's metadata, which is the same for all domains and contains no secrets. */
export function samlMetadata({ entityId, acsUrl }: { entityId: string; acsUrl: string }): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escaped(entityId)}">`,
    '  <md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="true" ' +
      'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">',
    '    <md:NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</md:NameIDFormat>',
    '    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</md:NameIDFormat>',
    '    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" ' +
      `Location="${escaped(acsUrl)}" index="0" isDefault="true"/>`,
    '  </md:SPSSODescriptor>',
    '</md:EntityDescriptor>',
    '',
  ].join('\n');
}

interface SamlRequest {
  /** The provider's URL for sign-in requests (a domain's `saml_acs_url`). May have a query string. */
  signOnUrl: string;
  entityId: string;
  acsUrl: string;
  requestId: string;
  /** An opaque string of at most 80 bytes that the provider returns with its response. */
  relayState: string;
  now: Date;
  forceAuthn: boolean;
}

/** Creates the URL of an unsigned sign-in request to a provider (redirect binding). */
export function samlRequestUrl({ signOnUrl, relayState, now, ...request }: SamlRequest): string {
  const xml = [
    '<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"',
    ` ID="${escaped(request.requestId)}" Version="2.0" IssueInstant="${now.toISOString().slice(0, 19)}Z"`,
    ` Destination="${escaped(signOnUrl)}" AssertionConsumerServiceURL="${escaped(request.acsUrl)}"`,
    ' ProtocolBinding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"',
    `${request.forceAuthn ? ' ForceAuthn="true"' : ''}><saml:Issuer>${escaped(request.entityId)}</saml:Issuer>`,
    '<samlp:NameIDPolicy AllowCreate="true"/></samlp:AuthnRequest>',
  ].join('');
  const url = new URL(signOnUrl);
  url.searchParams.set('SAMLRequest', deflateRawSync(Buffer.from(xml)).toString('base64'));
  url.searchParams.set('RelayState', relayState);
  return url.href;
}

/** Checks the URL to which sign-in requests are sent. @throws AppError `invalid` naming `saml_acs_url` */
export function checkSignOnUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isLocal = url !== null && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.hash === '';
  if (isPlain && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal))) return;
  throw new AppError(
    'invalid',
    "The provider's sign-on URL must be an https URL without a username, password or fragment.",
    {
      code: 'invalid_input',
      attr: 'saml_acs_url',
    },
  );
}
