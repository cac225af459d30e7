import type { UrlGrammar } from './grammar.ts';
import { next } from './next.ts';

/** The URLs of other services that a delivery host can read, by the value of its `urls`. */
export const urlGrammars = { next } as const satisfies Readonly<Record<string, UrlGrammar>>;

export type ForeignUrls = keyof typeof urlGrammars;

/** The values of `urls`; `native` are those of this service. */
export const urlKinds = ['native', ...(Object.keys(urlGrammars) as ForeignUrls[])] as const;
