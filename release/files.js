import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The places that have the version of a release, and how a release changes them. */

const root = join(import.meta.dirname, '..');

/** Replaces the only match of a pattern; its first group stays. */
const replaceIn = (pattern) => (text, replacement) => {
  if (!pattern.test(text)) throw new Error(`nothing is like ${pattern}`);
  return text.replace(pattern, (_, before) => `${before}${replacement}`);
};

/**
 * Moves what is not released yet below a heading of the release.
 *
 * @param {RegExp} heading of the unreleased part
 * @param {(version: string, date: string) => string} titleOf
 */
const moveUnreleased = (heading, titleOf) => (text, version, date) => {
  if (unreleasedIn(text) === '') throw new Error('it has nothing below Unreleased');
  return text.replace(heading, (line) => `${line}\n\n${titleOf(version, date)}`);
};

/** The text between Unreleased and the next release. */
const unreleasedIn = (text) =>
  /^## \[?Unreleased\]?\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(text)?.[1].trim() ?? '';

/** The notes of a release: the part of the changelog. */
export function notesOf(version) {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const title = `\n## [${version}]`;
  const from = text.indexOf('\n', text.indexOf(title) + 1);
  const to = text.indexOf('\n## ', from);
  return `${text.slice(from, to === -1 ? undefined : to).trim()}\n`;
}

export const versionFile = 'contract/version.ts';

/** The tags of the container image in commands. */
const replaceTags = (text, version) =>
  text.replaceAll(/(?<=\bimage-delivery:)\d+\.\d+\.\d+[^\s`]*/g, version);

/** @type {Readonly<Record<string, (text: string, version: string, date: string) => string>>} */
export const changes = {
  [versionFile]: replaceIn(/(^export const version = ')[^']+/m),
  'docs/deploy/helm/image-delivery/Chart.yaml': (text, version) =>
    ['version', 'appVersion'].reduce(
      (changed, field) => replaceIn(new RegExp(`(^${field}: )\\S+`, 'm'))(changed, version),
      text,
    ),
  'README.md': replaceTags,
  'docs/deploy/README.md': replaceTags,
  Dockerfile: replaceTags,
  'compose.yaml': replaceTags,
  'CHANGELOG.md': moveUnreleased(
    /^## \[Unreleased\]$/m,
    (version, date) => `## [${version}] - ${date}`,
  ),
  'sdk/CHANGELOG.md': (text, version, date) =>
    unreleasedIn(text) === ''
      ? text
      : moveUnreleased(/^## Unreleased$/m, (own, day) => `## ${own} - ${day}`)(text, version, date),
};

/** Changes all files, or none if one cannot be changed. @returns their paths */
export function setVersion(version, date) {
  const changed = Object.entries(changes).map(([path, change]) => {
    try {
      return [path, change(readFileSync(join(root, path), 'utf8'), version, date)];
    } catch (error) {
      throw new Error(`${path}: ${error.message}`);
    }
  });
  for (const [path, text] of changed) writeFileSync(join(root, path), text);
  return changed.map(([path]) => path);
}
