// No two folders import each other, not even by way of others. Apart from `.dependency-cruiser.cjs` because tests are left
// out here: they stand beside what they test and use the whole.
const { options } = require('./.dependency-cruiser.cjs');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-folder-cycles',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: [...options.exclude.path, '\\.test\\.ts$', '/testing/'] } },
};
