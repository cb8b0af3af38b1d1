// A file of its own, so that it can be loaded with the first password: the lists of common ones take some megabytes. It imports the
// libraries by name, which a program in one bundle cannot do where it loads them later: they are no ES modules.

import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

export const guessing = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
