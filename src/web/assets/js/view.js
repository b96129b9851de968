// SPDX-License-Identifier: Apache-2.0
// view.js: the page of a viewer, who reads the documents and changes nothing.
import { preparePages } from './pages.js'
import { setTexts } from './texts.js'

export function startView(main) {
    const announce = message => (document.querySelector('[data-live]').textContent = message)
    setTexts(JSON.parse(main.dataset.texts), document.documentElement.lang)
    preparePages(JSON.parse(main.dataset.view), main.dataset.link, { announce })
}
