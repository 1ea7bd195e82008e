/*
 * Words in the page's language. English is what is written in the scripts; of other languages the
 * page has loaded `django.gettext` before (config/pages/script_translations.py). Knows no page.
 */

/** The words for an English text, which is a literal, so that xgettext finds it. */
export const gettext = (text) => globalThis.django?.gettext?.(text) ?? text;

/** As `gettext`, in the form that goes with `n`. */
export const ngettext = (one, many, n) =>
  globalThis.django?.ngettext?.(one, many, n) ?? (n === 1 ? one : many);

/** Put values for the names in braces: fill("{n} of {m}", {n: 1, m: 2}). */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

const separator = globalThis.django?.get_format?.("THOUSAND_SEPARATOR") ?? ",";

/** A whole number as the pages write it. */
export const formatted = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, separator);
