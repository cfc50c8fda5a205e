@_exported public import Caching
@_exported public import Downloading
@_exported public import HTTPSemantics
@_exported public import ImageErrors
@_exported public import ImageFormats
@_exported public import ImageRecipes

// A user of the library imports one module and sees the public types of the stages behind it.
