// Estimates how easy a password is to guess. This file is loaded only when the first password is checked, because the
// word lists take several megabytes of memory. The imports are static, because a bundled program cannot load these
// CommonJS libraries dynamically.

import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

export const guessing = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
