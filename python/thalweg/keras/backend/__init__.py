"""Functions that programs for older versions of Keras are written with, and what is set for all of Keras."""

from thalweg.keras.backend._images import *
from thalweg.keras.backend._math import *
from thalweg.keras.backend._networks import *
from thalweg.keras.backend._recurrent import rnn
from thalweg.keras.backend._session import *
from thalweg.keras.backend._values import *
from thalweg.keras.bridge.settings import (epsilon, floatx, image_data_format, set_epsilon, set_floatx,
                                           set_image_data_format)
