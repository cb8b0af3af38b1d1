// Word for word what applications know, and filter, from PostHog's provider; each is shown behind `[PostHog.js]`.

export const ignoredInFavourOfClient = (property: 'apiKey' | 'options') =>
  `You have provided both \`client\` and \`${property}\` to \`PostHogProvider\`. \`${property}\` will be ignored in favour of \`client\`.`;

export const neitherKeyNorClient =
  'No `apiKey` or `client` were provided to `PostHogProvider`. Using default global `window.posthog` instance. You must initialize it manually. This is not recommended behavior.';

export const alreadyLoaded = '`posthog` was already loaded elsewhere. This may cause issues.';

export const otherApiKey = 'You have provided a different `apiKey` to `PostHogProvider`. It will be ignored.';
