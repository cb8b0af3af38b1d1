// Estimates how easy a password is to guess. This separate file is loaded with the first password, because the word
// lists take some megabytes of memory. The imports are static, because a bundled program cannot load these CommonJS
// libraries dynamically.

import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

export const guessing = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
